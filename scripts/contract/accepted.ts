/**
 * Changes since the last release that break callers and are made all the same: what `npm run check` calls them, and why.
 * Each is a line of the changelog, too. The next release empties the list.
 */
export const accepted: Readonly<Record<string, string>> = {}
