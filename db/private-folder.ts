/** Makes a folder private: some files in it are readable and writable for everybody, whoever created them. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'

const group = 0o070
const others = 0o007

/** File systems without modes. */
const modeless: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/**
 * Creates the folder if it is missing. `forGroup`: the group keeps its permissions. Another user's folder is left
 * unchanged, and so is one whose modes cannot be changed.
 */
export function makePrivateFolder(folder: string, { forGroup = false } = {}): void {
  const denied = forGroup ? others : group | others
  mkdirSync(folder, { recursive: true, mode: 0o777 & ~denied })
  const { mode, uid } = statSync(folder)
  if ((mode & denied) === 0 || uid !== process.getuid?.()) return
  try {
    chmodSync(folder, mode & 0o7777 & ~denied)
  } catch (error) {
    if (!modeless.includes((error as NodeJS.ErrnoException).code)) throw error
  }
}
