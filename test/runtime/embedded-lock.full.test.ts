/** A killed process has released its folder, even as a zombie. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { acquireFolderLock } from '#db/embedded/lock'

const readStat = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')

test.runIf(process.platform === 'linux')(
  'a process that has ended holds nothing, zombie or not',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'merchant-lock-'))
    // The parent of its child becomes a `sleep`, which collects nobody.
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const [printed] = await once(parent.stdout, 'data')
      const pid = Number(printed)
      const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      const holder = {
        pid,
        born: `${boot}:${readStat(pid)[19]}`,
        token: 'a',
        role: 'gateway' as const,
        socket: null,
      }
      writeFileSync(join(folder, 'db.lock.1'), JSON.stringify(holder))
      expect(await acquireFolderLock(folder, 'gateway', null)).toEqual({ holder })
      await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n')
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => readStat(pid)[0]).toBe('Z')
      const taken = await acquireFolderLock(folder, 'gateway', null)
      expect(taken).toHaveProperty('lock')
      if ('lock' in taken) taken.lock.release()
    } finally {
      parent.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
