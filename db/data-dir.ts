/** The folder of `DATA_DIR`: made where it is missing. */
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Throws what the system says. Each folder by itself: Node's own `recursive` asks for ever where a file system says of a
 * folder that it is not there and may not be made, as /proc does.
 */
export function makeDataDir(folder: string): void {
  if (!existsSync(folder)) {
    makeDataDir(dirname(folder))
    make(folder)
  }
  accessSync(join(folder, '.'), constants.W_OK)
}

function make(folder: string): void {
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process was faster; whether it is a folder is seen next.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

type Sentence = (folder: string) => string
const notWritable: Sentence = (folder) =>
  `DATA_DIR: ${folder} may not be written to: give its user the right to, or choose another folder`
const isNoFolder: Sentence = (folder) => `DATA_DIR: ${folder} is no folder: choose another path`

const writing: Readonly<Record<string, Sentence>> = {
  EACCES: notWritable,
  EPERM: notWritable,
  EROFS: notWritable,
  // What /proc and its like say.
  ENOENT: notWritable,
  EEXIST: isNoFolder,
  ENOTDIR: isNoFolder,
  ENOSPC: (folder) => `DATA_DIR: the disk of ${folder} is full: make room, or choose another folder`,
}

/** What the machine refuses of a folder, said as the setting with its remedy; null where nobody knows what it is. */
export function whyNotWritten(error: unknown, folder: string): string | null {
  const { code } = error as NodeJS.ErrnoException
  return (typeof code === 'string' && writing[code]?.(folder)) || null
}
