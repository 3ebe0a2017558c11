/** Creates the folder of `DATA_DIR` if it is missing. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Throws the system's error. Creates each folder separately: Node's own `recursive` loops forever if a file system
 * reports a folder as missing that cannot be created, as /proc does.
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
    // Another process was faster; whether it is a folder is checked next.
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
  // The code of /proc and similar file systems.
  ENOENT: notWritable,
  EEXIST: isNoFolder,
  ENOTDIR: isNoFolder,
  ENOSPC: (folder) => `DATA_DIR: the disk of ${folder} is full: make room, or choose another folder`,
}

/** A failure to write, as the setting with its remedy; null if the error is unknown. */
export function describeWriteError(error: unknown, folder: string): string | null {
  const { code } = error as NodeJS.ErrnoException
  return (typeof code === 'string' && writeMessages[code]?.(folder)) || null
}
