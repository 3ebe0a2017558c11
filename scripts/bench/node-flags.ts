import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const manifest = readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')

/** Node's flags of `npm start` or `npm run worker`: what is measured runs as they run. */
export const nodeFlags = (script: 'start' | 'worker'): string[] =>
  JSON.parse(manifest)
    .scripts[script].split(' ')
    .filter((word: string) => word.startsWith('--'))
