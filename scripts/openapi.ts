/** `npm run openapi -- [file]`: writes the OpenAPI document without starting a server. */
import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { buildOpenApi } from '#runtime/documents/openapi'
import { loadRegistry } from '#runtime/registry/registry'
import { parseOutputFile } from '#scripts/cli/options'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { printLine, type Terminal } from '#scripts/cli/terminal'
import { type Changes, compareContracts } from '#scripts/contract/changes'
import { toContract } from '#scripts/contract/contract'
import { readReleased, writeReleased } from '#scripts/contract/released'

export const openapiProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm run openapi --')
    .description('Writes the OpenAPI 3.1 document of the API, as JSON. Needs no database and no server.')
    .argument('[file]', 'where to write it; without one, to standard output', parseOutputFile)
    .addHelpText(
      'after',
      examples(terminal, 'npm run openapi -- openapi.json', 'npm run --silent openapi | head'),
    )
    .option('--changes', 'lists instead what callers of the last release notice, as lines for the changelog')
    .option('--release', 'stores the document instead as that of a release')
    .action(async (file: string | undefined, { changes, release }: { changes?: true; release?: true }) => {
      const document = buildOpenApi(await loadRegistry())
      if (changes) return printChanges(terminal, compareContracts(await readReleased(), toContract(document)))
      if (release) return writeReleased(toContract(document))
      const text = JSON.stringify(document, null, 2)
      if (file) await writeFile(file, `${text}\n`)
      else printLine(terminal.out, text)
    })

function printChanges({ out }: Terminal, { breaking, added }: Changes): void {
  for (const [title, changes] of Object.entries({ 'Breaks callers': breaking, 'New to callers': added })) {
    if (changes.length === 0) continue
    printLine(out, `### ${title}`)
    for (const change of changes) printLine(out, `- \`${change.replace(': ', '`: ')}`)
  }
}

if (import.meta.main) process.exitCode = await runProgram(openapiProgram)
