/** The contract of the last release, stored in the repository (31 KB). `npm run openapi -- --release` writes it. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import type { Contract } from './contract.ts'

const file = join(import.meta.dirname, 'released.json.br')

export const readReleased = async (): Promise<Contract> =>
  JSON.parse(brotliDecompressSync(await readFile(file)).toString())

export const writeReleased = (contract: Contract): Promise<void> =>
  writeFile(file, brotliCompressSync(JSON.stringify(contract)))
