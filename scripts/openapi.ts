/** `npm run openapi -- [file]`: writes the OpenAPI document without starting a server. */
import { writeFile } from 'node:fs/promises'
import { Command } from 'commander'
import { openApiDocument } from '#runtime/openapi'
import { loadRegistry } from '#runtime/registry'

await new Command('openapi')
  .description('Writes the OpenAPI 3.1 document of the API to a file, or to standard output.')
  .argument('[file]', 'where to write it')
  .action(async (file?: string) => {
    const text = `${JSON.stringify(openApiDocument(await loadRegistry()), null, 2)}\n`
    if (file) await writeFile(file, text)
    else process.stdout.write(text)
  })
  .parseAsync()
