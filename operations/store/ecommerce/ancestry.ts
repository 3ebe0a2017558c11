/** Which categories lie above which. */
import type { Category } from './port.ts'

/** Each category with itself and all above it. */
export type Ancestry = ReadonlyMap<string, readonly string[]>

export function ancestryOf(categories: readonly Category[]): Ancestry {
  const parents = new Map(categories.map(({ id, parentId }) => [id, parentId]))
  return new Map(
    categories.map(({ id }) => {
      const line = new Set<string>()
      // A platform's tree may have a circle in it.
      for (let at: string | null = id; at !== null && !line.has(at); at = parents.get(at) ?? null)
        line.add(at)
      return [id, [...line]]
    }),
  )
}
