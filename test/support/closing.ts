/**
 * What a test file opened and is closed when it ends. Vitest's `afterAll` is heard only while a file is being read: said
 * in a test or in `beforeAll` it is forgotten, and what stays open stays for all files that share the process.
 */
const closers: (() => Promise<unknown> | unknown)[] = []

export function whenFileEnds(close: () => Promise<unknown> | unknown): void {
  closers.push(close)
}

/** The last that was opened first; every one of them, whichever fails. */
export async function closeAll(): Promise<void> {
  const faults: unknown[] = []
  for (let close = closers.pop(); close; close = closers.pop()) {
    try {
      await close()
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults.length === 1 ? faults[0] : new AggregateError(faults)
}
