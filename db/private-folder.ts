/** Makes a folder private, since PGlite creates some files in it that everybody may read and write. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'

const group = 0o070
const others = 0o007

/** Error codes of file systems that have no modes. */
const modeless: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/**
 * Creates the folder if it is missing, and removes the permissions of others. `forGroup`: the group keeps its
 * permissions. A folder of another user stays unchanged, and so does a folder on a file system without modes.
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
