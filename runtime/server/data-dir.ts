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
