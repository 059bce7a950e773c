/** The text of one YAML document (rarely of several) and the line of its file that it begins on, from 1. */
export interface DocumentText {
  readonly text: string;
  readonly firstLine: number;
}

/**
 * Cuts a file at its `---` lines, without parsing it: YAML allows such a line nowhere but between documents
 * (YAML 1.2 §9.1.2), so the documents that an edit has not touched need not be parsed again.
 */
export function splitDocuments(text: string): readonly DocumentText[] {
  const documents: DocumentText[] = [];
  let lines: string[] = [];
  let firstLine = 1;
  for (const [index, line] of text.split('\n').entries()) {
    if (/^---(\s|$)/.test(line) && !lines.every(isPrologue)) {
      documents.push({ text: lines.join('\n'), firstLine });
      lines = [];
      firstLine = index + 1;
    }
    lines.push(line);
  }
  documents.push({ text: lines.join('\n'), firstLine });
  return documents;
}

/** Comments and directives belong to the document whose `---` follows. */
function isPrologue(line: string): boolean {
  return /^\s*(#.*)?$/.test(line) || line.startsWith('%');
}
