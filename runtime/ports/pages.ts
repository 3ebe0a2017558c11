/** Lists of a provider, page after page: the one way to go through them, since nobody knows how many there are. */
import { Refused, Unavailable } from './errors.ts'

/** Hundreds of thousands of rows, at any provider's smallest page. */
const pagesAtMost = 10_000

/**
 * The pages from `first` on. Throws `Unavailable` where they do not end: a page that leads back to one before, or too
 * many of them.
 */
export async function* pagesOf<Page>(
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

/**
 * The pages from where a walk before stood, which is kept for as long as we may be away: a provider that takes that
 * place no more is asked from the beginning.
 */
export function keptPagesOf<Page>(
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
  return pagesOf(readKept, nextOf, kept)
}

/** As GraphQL tells of the next page. */
export const afterOf = (pageInfo: { hasNextPage: boolean; endCursor: string | null }): string | null =>
  pageInfo.hasNextPage ? pageInfo.endCursor : null
