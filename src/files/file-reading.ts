import type { FileProblem } from './file-problem.js';
import type { DocumentReading } from './read-document.js';
import type { Found } from './tracked-object.js';

/** What all documents of one file say, with lines of the file. */
export interface FileReading {
  readonly objects: readonly Found[];
  /** Keys of objects whose last good version serves on. */
  readonly faulty: readonly string[];
  /** There is something in it, or the whole of it, of which cannot be told which object it is. */
  readonly unclear: boolean;
  readonly problems: readonly FileProblem[];
  /** The file seems to be gone: what it describes counts unless another file describes it too. */
  readonly leaving: boolean;
}

export interface PlacedDocument {
  /** From 1. */
  readonly firstLine: number;
  readonly reading: DocumentReading;
}

export function unreadableFile(file: string, message: string): FileReading {
  const problem: FileProblem = { severity: 'error', file, path: '', message };
  return { objects: [], faulty: [], unclear: true, problems: [problem], leaving: false };
}

/** Of a file that was read before, what stands where it stood is the same object. */
export function joinDocuments(
  file: string,
  documents: readonly PlacedDocument[],
  before: readonly Found[] = [],
): FileReading {
  const known = new Map(before.map((found) => [found.read, found]));
  return {
    objects: documents.flatMap(({ firstLine, reading }) =>
      reading.objects.map((read) => {
        const found = known.get(read);
        return found?.firstLine === firstLine ? found : { file, firstLine, read };
      }),
    ),
    faulty: documents.flatMap(({ reading }) => [...reading.faulty]),
    unclear: documents.some(({ reading }) => reading.unclear),
    problems: documents.flatMap(({ firstLine, reading }) =>
      reading.problems.map((problem) => ({ ...problem, file, line: firstLine - 1 + (problem.line ?? 1) })),
    ),
    leaving: false,
  };
}
