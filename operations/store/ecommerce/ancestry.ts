/** Computes the ancestors of categories. */
import type { Category } from './port.ts'

/** For each category id: that id and the ids of all its ancestors. */
export type Ancestry = ReadonlyMap<string, readonly string[]>

export function buildAncestry(categories: readonly Category[]): Ancestry {
  const parents = new Map(categories.map(({ id, parentId }) => [id, parentId]))
  return new Map(
    categories.map(({ id }) => {
      const line = new Set<string>()
      // A platform's tree may contain a cycle.
      for (let at: string | null = id; at !== null && !line.has(at); at = parents.get(at) ?? null)
        line.add(at)
      return [id, [...line]]
    }),
  )
}
