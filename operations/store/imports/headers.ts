/** Finds the columns of an imported file by their names. The names are data of the section that imports. */

/** Names of one field, in groups: an earlier group is preferred, within a group the first column of the file. */
export type Names = readonly (readonly string[])[]

/** Folds a column's name, so that `First Name`, `first_name` and `FIRSTNAME` are one. */
export const foldHeader = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')

/** Lists the positions of each field's columns, the preferred one first. */
export function findColumns<Field extends string>(
  header: readonly string[],
  fields: Readonly<Record<Field, Names>>,
): Record<Field, number[]> {
  const folded = header.map(foldHeader)
  const find = (groups: Names): number[] => [
    ...new Set(
      groups.flatMap((names) => {
        const wanted = new Set(names.map(foldHeader))
        return folded.flatMap((name, at) => (wanted.has(name) ? at : []))
      }),
    ),
  ]
  const found = Object.entries<Names>(fields).map(([field, groups]) => [field, find(groups)])
  return Object.fromEntries(found) as Record<Field, number[]>
}
