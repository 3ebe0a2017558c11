/** Reads all pages of a provider's list, whose length is unknown. */
import { Refused, Unavailable } from './errors.ts'

/** The most pages: enough for hundreds of thousands of rows, even with the smallest page size of any provider. */
const pagesAtMost = 10_000

/**
 * Yields the pages, beginning at the cursor `first`. Throws `Unavailable` if the pages do not end: a cursor repeats, or
 * there are too many pages.
 */
export async function* readPages<Page>(
  read: (cursor: string | null) => Promise<Page>,
  nextOf: (page: Page) => string | null | undefined,
  first: string | null = null,
): AsyncGenerator<Page, void, void> {
  const seen = new Set<string | null>([first])
  for (let cursor = first; ; ) {
    const page = await read(cursor)
    yield page
    const next = nextOf(page) ?? null
    if (next === null) return
    if (seen.has(next) || seen.size >= pagesAtMost) {
      throw new Unavailable('no', "The provider's pages do not end")
    }
    seen.add(next)
    cursor = next
  }
}

/** Resumes at the stored cursor `kept`. If the provider refuses it, for example because it is too old, starts again. */
export function resumePages<Page>(
  read: (cursor: string | null) => Promise<Page>,
  nextOf: (page: Page) => string | null | undefined,
  kept: string | null,
): AsyncGenerator<Page, void, void> {
  let isFirst = true
  const readKept = async (cursor: string | null): Promise<Page> => {
    const mayBeOld = isFirst && cursor !== null
    isFirst = false
    try {
      return await read(cursor)
    } catch (error) {
      if (!mayBeOld || !(error instanceof Refused)) throw error
      return read(null)
    }
  }
  return readPages(readKept, nextOf, kept)
}

/** Returns the cursor after a GraphQL page; null after the last page. */
export const getEndCursor = (pageInfo: { hasNextPage: boolean; endCursor: string | null }): string | null =>
  pageInfo.hasNextPage ? pageInfo.endCursor : null
