/** Runs external tools, each in its own process. */
import { spawn } from 'node:child_process'

export interface Result {
  name: string
  ok: boolean
  output: string
}

/** Runs a tool that is a Node script. */
export const tool = async (root: string, name: string, script: string, args: string[]): Promise<Result> => ({
  name,
  ...(await run(root, process.execPath, [script, ...args])),
})

export function run(root: string, command: string, args: string[]): Promise<Omit<Result, 'name'>> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.on('error', (error) => resolve({ ok: false, output: String(error) }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
}
