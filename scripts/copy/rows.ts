/** How far the rows of tables are. */
import type { Filling } from '#db/copy/fill'
import type { CopiedTable } from '#db/copy/source'
import { showProgress } from '#scripts/cli/progress'
import type { Output } from '#scripts/cli/terminal'

export const rowsIn = (tables: readonly CopiedTable[]): number =>
  tables.reduce((sum, { rows }) => sum + rows, 0)

/** `work` tells before each table. */
export async function tellingRows(
  output: Output,
  tables: readonly CopiedTable[],
  work: (told: Filling) => Promise<void>,
): Promise<void> {
  const progress = showProgress(output)
  let done = 0
  progress.begin('Rows', rowsIn(tables), 'rows')
  try {
    await work(({ name, rows }) => {
      progress.at(done, name)
      done += rows
    })
  } finally {
    progress.end()
  }
}
