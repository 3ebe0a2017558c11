/** A folder that others on the machine may not enter: some files in it let everybody read and write, whoever made them. */
import { chmodSync, mkdirSync, statSync } from 'node:fs'

const group = 0o070
const others = 0o007

/** Makes it where it is missing. `forGroup`: the group keeps what it has. One that is another user's is left as it is. */
export function makePrivate(folder: string, { forGroup = false } = {}): void {
  const denied = forGroup ? others : group | others
  mkdirSync(folder, { recursive: true, mode: 0o777 & ~denied })
  const { mode, uid } = statSync(folder)
  if ((mode & denied) !== 0 && uid === process.getuid?.()) chmodSync(folder, mode & 0o7777 & ~denied)
}
