export type Result = 'passed' | 'failed' | 'skipped' | 'unsupported';

/** One test of the suite as it ran. Times are milliseconds since the epoch. */
export interface TestRun {
  readonly name: string;
  readonly result: Result;
  readonly seconds: number;
  readonly begin: number;
  readonly end: number;
  /** What the test and its subtests printed. */
  readonly lines: readonly string[];
}

interface Open {
  begin: number;
  lines: string[];
  unsupported: boolean;
}

// Test binaries put this byte before their own lines when asked for machine-readable output.
const marker = '\u0016';
const header = /^=== (RUN|NAME|CONT|PAUSE)\s+(\S+)/;
const verdict = /^\s*--- (PASS|FAIL|SKIP): (\S+) \(([\d.]+)s\)/;
const results = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' } as const;

/**
 * Reads the suite's output line by line. Tests may run at the same time: each
 * line belongs to the test that a header line named last.
 */
export class SuiteOutput {
  readonly tests: TestRun[] = [];
  /** Lines of no test: the suite's own preparations. */
  readonly setup: string[] = [];
  private readonly open = new Map<string, Open>();
  private current: string | undefined;
  private partial = '';

  constructor(
    private readonly onTest: (test: TestRun) => void = () => undefined,
    private readonly now: () => number = Date.now,
  ) {}

  write(text: string): void {
    const lines = (this.partial + text).split('\n');
    this.partial = lines.pop() ?? '';
    for (const line of lines) this.line(line.replaceAll(marker, ''));
  }

  private line(line: string): void {
    const [, what, started] = header.exec(line) ?? [];
    if (started !== undefined) {
      this.enter(started, what === 'CONT');
      return;
    }
    const [, word, ended = '', seconds] = verdict.exec(line) ?? [];
    if (ended.split('/').length === 2) {
      this.close(testOf(ended) ?? ended, results[word as keyof typeof results], Number(seconds));
      return;
    }
    const open = this.current === undefined ? undefined : this.open.get(this.current);
    if (open === undefined) {
      this.setup.push(line);
      return;
    }
    open.lines.push(line);
    open.unsupported ||= line.includes('suite does not support');
  }

  private enter(path: string, resumed: boolean): void {
    this.current = testOf(path);
    if (this.current === undefined) return;
    const open = this.open.get(this.current);
    if (open === undefined) {
      this.open.set(this.current, { begin: this.now(), lines: [], unsupported: false });
    } else if (resumed && path.split('/').length === 2) {
      open.begin = this.now(); // a parallel test has waited until now
    }
  }

  private close(name: string, result: Result, seconds: number): void {
    const open = this.open.get(name) ?? { begin: this.now(), lines: [], unsupported: false };
    this.open.delete(name);
    const test: TestRun = {
      name,
      result: result === 'skipped' && open.unsupported ? 'unsupported' : result,
      seconds,
      begin: open.begin,
      end: this.now(),
      lines: open.lines,
    };
    this.tests.push(test);
    this.onTest(test);
  }
}

/** The suite's name of the test that `TestConformance/NAME/…` belongs to. */
function testOf(path: string): string | undefined {
  return path.split('/')[1];
}
