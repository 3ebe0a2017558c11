/** Pagination through a provider's lists, whose length nobody knows. */
import { Refused, Unavailable } from './errors.ts'

/** Hundreds of thousands of rows, even with the smallest page size of any provider. */
const pagesAtMost = 10_000

/**
 * The pages from `first` on. Throws `Unavailable` if they do not end: a page that leads back to an earlier one, or too
 * many pages.
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

/** Resumes at a stored cursor, which may be old: if the provider refuses it, reading starts from the beginning. */
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

/** The next cursor of a GraphQL page. */
export const getEndCursor = (pageInfo: { hasNextPage: boolean; endCursor: string | null }): string | null =>
  pageInfo.hasNextPage ? pageInfo.endCursor : null
