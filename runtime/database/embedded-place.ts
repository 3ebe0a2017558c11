/** Where the embedded database is served. */
import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The system's limit is 104 bytes on macOS, 108 on Linux. */
const pathAtMost = 100

/** Where the database of a folder is served: inside it, or below the system's own where that path would be too long. */
export function socketPath(folder: string): string {
  const inside = join(folder, 'db.sock')
  if (Buffer.byteLength(inside) <= pathAtMost) return inside
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 20)
  return join(tmpdir(), `merchant-${process.getuid?.() ?? 'user'}-${name}`, 'db.sock')
}
