/** CPU time of other processes, from Linux's /proc. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const microsPerTick = 10_000

/** Of the server and all its processes, ended ones included, in microseconds; null where there is no /proc. */
export function postgresCpuMicros(dataDir: string): number | null {
  let ticks = 0
  try {
    const postmaster = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]!
    for (const entry of readdirSync('/proc')) {
      const stat = /^\d+$/.test(entry) ? statOf(entry) : null
      if (!stat) continue
      if (entry === postmaster) ticks += stat.own + stat.ended
      else if (stat.parent === postmaster) ticks += stat.own
    }
  } catch {
    return null // another system, or the server has ended
  }
  return ticks * microsPerTick
}

/** Of one process, in microseconds; null where there is no /proc. */
export function processCpuMicros(pid: number): number | null {
  const stat = statOf(String(pid))
  return stat && stat.own * microsPerTick
}

/** The fields of proc(5), counted from after the name, which may hold spaces. */
function statOf(pid: string): { parent: string; own: number; ended: number } | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null // it ended while we looked
  }
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const ticks = (from: number): number => Number(fields[from]) + Number(fields[from + 1])
  return { parent: fields[1]!, own: ticks(11), ended: ticks(13) }
}
