/**
 * Closes resources when a test file ends. Vitest accepts `afterAll` only while a file is being loaded: called in a test
 * or in `beforeAll` it is ignored, and the resource stays open for all files of the process.
 */
const closers: (() => Promise<unknown> | unknown)[] = []

export function whenFileEnds(close: () => Promise<unknown> | unknown): void {
  closers.push(close)
}

/** In reverse order; all of them, even if one fails. */
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
