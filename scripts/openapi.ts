/** `npm run openapi -- [file]`: writes the OpenAPI document without starting a server. */
import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { openApiDocument } from '#runtime/documents/openapi'
import { loadRegistry } from '#runtime/registry/registry'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { line, type Terminal } from '#scripts/cli/terminal'

export const openapiProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run openapi --')
    .description('Writes the OpenAPI 3.1 document of the API, as JSON. Needs no database and no server.')
    .argument('[file]', 'where to write it; without one, to standard output')
    .addHelpText(
      'after',
      examples(terminal, 'npm run openapi -- openapi.json', 'npm run --silent openapi | head'),
    )
    .action(async (file?: string) => {
      const text = JSON.stringify(openApiDocument(await loadRegistry()), null, 2)
      if (file) await writeFile(file, `${text}\n`)
      else line(terminal.out, text)
    })

if (import.meta.main) process.exitCode = await runProgram(openapiProgram)
