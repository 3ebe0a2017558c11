/** A folder that others on the machine may not enter: some files in it let everybody read and write, whoever made them. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'

const group = 0o070
const others = 0o007

/** Where a file system knows no modes. */
const modeless: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']

/**
 * Makes it where it is missing. `forGroup`: the group keeps what it has. One that is another user's is left as it is, and
 * so is one whose modes cannot be changed.
 */
export function makePrivate(folder: string, { forGroup = false } = {}): void {
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
