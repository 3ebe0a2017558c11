/** Creates the folder of `DATA_DIR`, and explains why it cannot be written. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Creates the folder if it is missing; throws the system's error. Parents are created one by one, since Node's
 * `recursive` loops forever on a file system such as /proc, which reports a folder as missing that cannot be created.
 */
export function makeDataDir(folder: string): void {
  if (!existsSync(folder)) {
    makeDataDir(dirname(folder))
    createFolder(folder)
  }
  accessSync(join(folder, '.'), constants.W_OK)
}

function createFolder(folder: string): void {
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process has just created it; the caller checks that it is a folder.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

type Message = (folder: string) => string
const notWritable: Message = (folder) =>
  `DATA_DIR: ${folder} may not be written to: give its user the right to, or choose another folder`
const isNoFolder: Message = (folder) => `DATA_DIR: ${folder} is no folder: choose another path`

const writeMessages: Readonly<Record<string, Message>> = {
  EACCES: notWritable,
  EPERM: notWritable,
  EROFS: notWritable,
  // /proc and similar file systems give this code.
  ENOENT: notWritable,
  EEXIST: isNoFolder,
  ENOTDIR: isNoFolder,
  ENOSPC: (folder) => `DATA_DIR: the disk of ${folder} is full: make room, or choose another folder`,
}

/** Describes a failure to write as a sentence with the setting and the remedy; null if the error is unknown. */
export function describeWriteError(error: unknown, folder: string): string | null {
  const { code } = error as NodeJS.ErrnoException
  return (typeof code === 'string' && writeMessages[code]?.(folder)) || null
}
