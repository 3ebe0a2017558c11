/** A gateway as `npm start` runs it, and the memory of a process. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeFlags } from '../node-flags.ts'

const script = join(import.meta.dirname, '../../start.ts')

export interface Gateway {
  url: string
  pid: number
}

/** Runs a step while a gateway without a worker runs, and ends it. */
export async function withGateway<T>(
  env: Record<string, string>,
  step: (gateway: Gateway) => Promise<T>,
): Promise<T> {
  const gateway = spawn(process.execPath, [...nodeFlags('start'), script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env, WORKER: 'off' },
  })
  const ended = new Promise<void>((resolve) => gateway.once('exit', () => resolve()))
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let told = ''
      gateway.stdout.on('data', (chunk) => {
        if (told === 'heard') return
        told += chunk
        const listening = /Listening on (\S+)/.exec(told)
        if (!listening) return
        told = 'heard'
        resolve(listening[1]!)
      })
      gateway.once('exit', (code) => reject(new Error(`The gateway ended with ${code}: ${told}`)))
    })
    return await step({ url, pid: gateway.pid! })
  } finally {
    gateway.kill('SIGTERM')
    await ended
  }
}

export interface Memory {
  MiB: number
  peakMiB: number
}

/** What is resident of it now, and was at most; null but on Linux. */
export function memoryOf(pid: number): Memory | null {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return null
  const status = readFileSync(file, 'utf8')
  const field = (name: string): number =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) / 1024)
  return { MiB: field('VmRSS'), peakMiB: field('VmHWM') }
}
