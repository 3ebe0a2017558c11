/** `npm run backup -- <folder>`: the database and its files as they are at one instant, also while a server runs. */
import { existsSync, readFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { reading, type Source } from '#db/copy/source'
import type { Database } from '#db/database'
import { sign } from '#runtime/secrets'
import { readSettings, type Settings } from '#runtime/server/settings'
import { requireEmbedded, withDatabaseAsItIs } from '#scripts/cli/database'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { line, type Terminal } from '#scripts/cli/terminal'
import { copyFiles } from '#scripts/copy/files'
import { filesOf, makeBackupFolder, secretOf, writeContents, writeRows } from '#scripts/copy/folder'
import { rowsIn, tellingRows } from '#scripts/copy/rows'

export const backupProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run backup --')
    .description(
      'Saves the database of DATABASE_URL, or else the embedded one of DATA_DIR, with the files that are kept in DATA_DIR, ' +
        'as they are at one instant: also while servers run. Those of the embedded database wait meanwhile.',
    )
    .argument('<folder>', 'to write to; it is made')
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run backup -- backups/monday',
        'DATA_DIR=/srv/data npm run backup -- /backups/monday',
      ),
    )
    .action((folder: string) => backUp(terminal, resolve(folder)))

async function backUp(terminal: Terminal, folder: string): Promise<void> {
  const { env } = terminal
  requireEmbedded(env)
  const settings = await readSettings(env)
  await withDatabaseAsItIs(settings, async (database) => {
    const unmake = await makeBackupFolder(folder)
    await orElse(unmake, () => save(terminal, settings, database, folder))
  })
}

async function save(
  terminal: Terminal,
  settings: Settings,
  database: Database,
  folder: string,
): Promise<void> {
  const { out } = terminal
  // Most of them now: what came meanwhile is all that is left to take while others may have to wait.
  await keepFiles(settings, folder)
  const { tables, kept } = await reading(database, async (source) => {
    await keepRows(terminal, folder, source)
    const kept = await keepFiles(settings, folder)
    const { migrations, tables, sequences } = source
    const secret = fingerprint(settings)
    const madeAt = new Date().toISOString()
    await writeContents(folder, { format: 1, madeAt, migrations, secret, files: kept, sequences, tables })
    return { tables, kept }
  })
  line(out, `Saved: ${tables.length} tables, ${rowsIn(tables)} rows, ${kept.count} files in ${folder}`)
  if (settings.storageUrl !== 'disk') line(out, 'Files are where STORAGE_URL says, and are saved there.')
  line(
    out,
    existsSync(secretOf(folder))
      ? 'Keep it where nobody reads it: the secret key is in it.'
      : 'Keep SECRET_KEY apart from it: without that the credentials in it cannot be opened.',
  )
}

/** What was not finished is taken away. A disk that is full or cannot be read is told in one line. */
async function orElse(unmake: () => Promise<void>, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    await unmake()
    const { syscall, message } = error as NodeJS.ErrnoException
    throw syscall === undefined ? error : new Error(`Nothing is saved: ${message}`)
  }
}

const keepRows = ({ err }: Terminal, folder: string, source: Source): Promise<void> =>
  tellingRows(err, source.tables, async (told) => {
    for (const table of source.tables) {
      told(table)
      await writeRows(folder, source, table)
    }
  })

async function keepFiles({ dataDir, storageUrl, secretKey }: Settings, folder: string) {
  const secret = join(dataDir, 'secret-key')
  // One from before SECRET_KEY was set opens nothing that is in it.
  const isOurs = existsSync(secret) && readFileSync(secret, 'utf8').trim() === secretKey
  if (isOurs && !existsSync(secretOf(folder))) await copyFile(secret, secretOf(folder))
  return storageUrl === 'disk' ? copyFiles(join(dataDir, 'files'), filesOf(folder)) : { count: 0, bytes: 0 }
}

/** Tells whether two servers have the same secret key, and nothing of it. */
export const fingerprint = (settings: Settings): string => sign(settings, 'backup', 'secret key')

if (import.meta.main) process.exitCode = await runProgram(backupProgram)
