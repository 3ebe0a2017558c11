/** `npm run restore -- <folder>`: a backup into a database that has no store yet, with its files. */
import { existsSync, readFileSync } from 'node:fs'
import { chmod, copyFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { makeDataDir } from '#db/data-dir'
import { SettingsError } from '#db/settings-error'
import { dataDirOf, readSettings } from '#runtime/server/settings'
import { fingerprint } from '#scripts/backup'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { line, type Terminal } from '#scripts/cli/terminal'
import { copyFiles } from '#scripts/copy/files'
import { filesOf, openBackup, secretOf } from '#scripts/copy/folder'
import { fillDatabase } from '#scripts/copy/into'
import { rowsIn } from '#scripts/copy/rows'

export const restoreProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run restore --')
    .description(
      'Brings what `npm run backup` saved into the database of DATABASE_URL, or else into DATA_DIR, where there is no store ' +
        'yet; its files into DATA_DIR. All of it arrives, compared by counts and sums of every table, or nothing.',
    )
    .argument('<folder>', 'that the backup was written to')
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
  await takeSecret(folder, env)
  const settings = await readSettings(env)
  await fillDatabase(terminal, settings, backup)
  const files = await copyFiles(filesOf(folder), join(settings.dataDir, 'files'))
  if (files.count !== backup.files.count || files.bytes !== backup.files.bytes) {
    throw new Error(
      `Of ${backup.files.count} files (${backup.files.bytes} bytes) the backup has ${files.count} (${files.bytes} bytes): the rows are restored, some files are missing`,
    )
  }
  line(
    out,
    `Restored as of ${backup.madeAt}: ${backup.tables.length} tables, ${rowsIn(backup.tables)} rows, ${files.count} files.`,
  )
  line(out, 'Jobs that waited then run as soon as a server starts here: do not run both.')
  if (fingerprint(settings) !== backup.secret) {
    line(
      err,
      'SECRET_KEY is another than the one it was saved with: set that one, or SECRET_KEY_PREVIOUS, for credentials and links',
    )
  }
}

/** Where the server keeps it in its folder; one that is given counts as given. */
async function takeSecret(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const from = secretOf(folder)
  if (env.SECRET_KEY || !existsSync(from)) return
  const dataDir = dataDirOf(env)
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
