/** A hanging PostgreSQL: it accepts connections and never answers. Linux. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ThrowawayPostgres } from '#scripts/cli/postgres'

/** Stops all its processes; returns a function that resumes them once. */
export function hang({ dataDir }: Pick<ThrowawayPostgres, 'dataDir'>): () => void {
  const first = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]!
  process.kill(Number(first), 'SIGSTOP')
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ')
  for (const pid of children) process.kill(Number(pid), 'SIGSTOP')
  let isHanging = true
  return () => {
    if (isHanging) for (const pid of [...children, first]) process.kill(Number(pid), 'SIGCONT')
    isHanging = false
  }
}
