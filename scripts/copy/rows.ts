/** Shows the progress of copying rows. */
import type { CopyProgress } from '#db/copy/fill'
import type { CopiedTable } from '#db/copy/source'
import { showProgress } from '#scripts/cli/progress'
import type { Output } from '#scripts/cli/terminal'

export const countRows = (tables: readonly CopiedTable[]): number =>
  tables.reduce((sum, { rows }) => sum + rows, 0)

/** Shows progress while `work` copies rows; `work` reports each table before it copies it. */
export async function reportRows(
  output: Output,
  tables: readonly CopiedTable[],
  work: (told: CopyProgress) => Promise<void>,
): Promise<void> {
  const progress = showProgress(output)
  let done = 0
  progress.begin('Rows', countRows(tables), 'rows')
  try {
    await work(({ name, rows }) => {
      progress.at(done, name)
      done += rows
    })
  } finally {
    progress.end()
  }
}
