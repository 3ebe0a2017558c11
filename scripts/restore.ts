/** `npm run restore -- <folder>`: restores a backup with its files into a database without a store. */
import { existsSync, readFileSync } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { makeDataDir } from '#db/data-dir'
import { SettingsError } from '#db/settings-error'
import { readSettings, resolveDataDir } from '#runtime/server/settings'
import { fingerprint } from '#scripts/backup'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { printLine, type Terminal } from '#scripts/cli/terminal'
import { copyFiles } from '#scripts/copy/files'
import { getFilesFolder, getSecretFile, openBackup, requireFiles } from '#scripts/copy/folder'
import { countRows } from '#scripts/copy/rows'
import { fillDatabase } from '#scripts/copy/target'

export const restoreProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run restore --')
    .description(
      'Restores a backup of `npm run backup` into the database of DATABASE_URL, or else into DATA_DIR, which has no store ' +
        'yet; its files into DATA_DIR. All of it arrives, compared by counts and sums of every table and a checksum of the files, or nothing.',
    )
    .argument('<folder>', 'the folder of the backup')
    .addHelpText(
      'after',
      examples(
        terminal,
        'DATA_DIR=/srv/restored npm run restore -- backups/monday',
        'DATABASE_URL=postgres://user:password@host/database npm run restore -- backups/monday',
      ),
    )
    .action((folder: string) => restore(terminal, resolve(folder)))

async function restore(terminal: Terminal, folder: string): Promise<void> {
  const { env, out, err } = terminal
  const backup = await openBackup(folder)
  await requireFiles(folder, backup)
  await restoreSecret(folder, env)
  const settings = await readSettings(env)
  // The files come before the rows: a full disk is found in time, and a second try skips what is there.
  await fillDatabase(terminal, settings, backup, async () => {
    await copyFiles(getFilesFolder(folder), join(settings.dataDir, 'files'))
  })
  printLine(
    out,
    `Restored as of ${backup.madeAt}: ${backup.tables.length} tables, ${countRows(backup.tables)} rows, ${backup.files.count} files.`,
  )
  printLine(out, 'Jobs that waited then run as soon as a server starts here: do not run both.')
  if (fingerprint(settings) !== backup.secret) {
    printLine(
      err,
      'SECRET_KEY is another than the one it was saved with: set that one, or SECRET_KEY_PREVIOUS, for credentials and links',
    )
  }
}

/** Writes the key file, unless SECRET_KEY is set. */
async function restoreSecret(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const from = getSecretFile(folder)
  if (env.SECRET_KEY || !existsSync(from)) return
  const dataDir = resolveDataDir(env)
  const to = join(dataDir, 'secret-key')
  if (existsSync(to)) {
    if (readFileSync(to, 'utf8') === readFileSync(from, 'utf8')) return
    throw new SettingsError(
      `DATA_DIR: ${dataDir} has another secret key already: name a folder that is not there yet`,
    )
  }
  makeDataDir(dataDir)
  await copyFile(from, to)
  await chmod(to, 0o600)
}

if (import.meta.main) process.exitCode = await runProgram(restoreProgram)
