/** `npm run backup -- <folder>`: a consistent snapshot of the database and its files, also while a server runs. */
import { existsSync, readFileSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { readSnapshot, type Source } from '#db/copy/source'
import type { Database } from '#db/database'
import { sign } from '#runtime/secrets'
import { readSettings, type Settings } from '#runtime/server/settings'
import { requireEmbedded, withUnmigratedDatabase } from '#scripts/cli/database'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { printLine, type Terminal } from '#scripts/cli/terminal'
import { copyFiles, digestFiles } from '#scripts/copy/files'
import {
  getFilesFolder,
  getSecretFile,
  makeBackupFolder,
  writeContents,
  writeRows,
} from '#scripts/copy/folder'
import { countRows, reportRows } from '#scripts/copy/rows'

export const backupProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run backup --')
    .description(
      'Saves the database of DATABASE_URL, or else the embedded one of DATA_DIR, with the files that are kept in DATA_DIR, ' +
        'as they are at one instant, also while servers run. Servers on the embedded database wait meanwhile.',
    )
    .argument('<folder>', 'the folder to create')
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
  await withUnmigratedDatabase(settings, async (database) => {
    const unmake = await makeBackupFolder(folder)
    await undoOnFailure(unmake, () => save(terminal, settings, database, folder))
  })
}

async function save(
  terminal: Terminal,
  settings: Settings,
  database: Database,
  folder: string,
): Promise<void> {
  const { out } = terminal
  // Copies the files once before the snapshot: during it, when writes may be blocked, only newer files remain to be
  // copied.
  await saveFiles(settings, folder)
  const { tables, kept, ...contents } = await readSnapshot(database, async (source) => {
    await saveRows(terminal, folder, source)
    const kept = await saveFiles(settings, folder)
    const { migrations, tables, sequences } = source
    const secret = fingerprint(settings)
    const madeAt = new Date().toISOString()
    return { tables, kept, madeAt, migrations, secret, sequences }
  })
  // After the snapshot: writes may be blocked during it.
  const files = await digestFiles(getFilesFolder(folder))
  await writeContents(folder, { format: 1, ...contents, files, tables })
  printLine(
    out,
    `Saved: ${tables.length} tables, ${countRows(tables)} rows, ${kept.count} files in ${folder}`,
  )
  if (settings.storageUrl !== 'disk') printLine(out, 'Files are where STORAGE_URL says, and are saved there.')
  printLine(
    out,
    existsSync(getSecretFile(folder))
      ? 'Keep it where nobody reads it: the secret key is in it.'
      : 'Keep SECRET_KEY apart from it: without that the credentials in it cannot be opened.',
  )
}

/** Runs `work`; if it fails, deletes the unfinished backup. A full or unreadable disk is reported in one line. */
async function undoOnFailure(unmake: () => Promise<void>, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    await unmake()
    const { syscall, message } = error as NodeJS.ErrnoException
    throw syscall === undefined ? error : new Error(`Nothing is saved: ${message}`)
  }
}

const saveRows = ({ err }: Terminal, folder: string, source: Source): Promise<void> =>
  reportRows(err, source.tables, async (told) => {
    for (const table of source.tables) {
      told(table)
      await writeRows(folder, source, table)
    }
  })

async function saveFiles({ dataDir, storageUrl, secretKey }: Settings, folder: string) {
  const secret = join(dataDir, 'secret-key')
  // If SECRET_KEY is set, the key file may be an older key that decrypts nothing in this backup.
  const isOurs = existsSync(secret) && readFileSync(secret, 'utf8').trim() === secretKey
  if (isOurs && !existsSync(getSecretFile(folder))) await copyFile(secret, getSecretFile(folder))
  return storageUrl === 'disk'
    ? copyFiles(join(dataDir, 'files'), getFilesFolder(folder))
    : { count: 0, bytes: 0 }
}

/** A fingerprint of the secret key, to compare two servers' keys without revealing them. */
export const fingerprint = (settings: Settings): string => sign(settings, 'backup', 'secret key')

if (import.meta.main) process.exitCode = await runProgram(backupProgram)
