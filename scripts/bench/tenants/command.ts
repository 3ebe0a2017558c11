/** What `npm run bench -- tenants` is told. */
import { Command, InvalidArgumentError } from 'commander'
import { seconds, wholeFrom } from '#scripts/cli/options'
import { examples, newProgram } from '#scripts/cli/program'
import { showProgress } from '#scripts/cli/progress'
import type { Terminal } from '#scripts/cli/terminal'
import type { Tell } from '../report.ts'
import { measureTenants, type TenantsOptions } from '../tenants.ts'
import { tenantsTable } from './table.ts'

const from1 = wholeFrom(1)
const numbersOf = (text: string): number[] => {
  const numbers = text.split(',').map((each) => from1(each.trim()))
  if (new Set(numbers).size < numbers.length) throw new InvalidArgumentError('It names a number twice.')
  return numbers
}

export const tenantsCommand = (terminal: Terminal, tell: Tell): Command =>
  new Command('tenants')
    .copyInheritedSettings(newProgram(terminal, 'npm run bench -- tenants'))
    .description(
      'Measures what many stores cost, each number of them on a throwaway PostgreSQL of its own: what runs by the ' +
        'clock while all are quiet and while all are connected to a platform, and requests of the active ones beside ' +
        'a worker that has it all due at once. Prints the curve as a table, then everything as JSON.',
    )
    .option('--stores <numbers>', 'how many, one number after the other', numbersOf, [100, 1_000, 10_000])
    .option(
      '--contacts <n>',
      'contacts at the largest number, by a power law; fewer where there are fewer',
      from1,
      1_000_000,
    )
    .option('--active <n>', 'stores that send requests', from1, 200)
    .option('--rate <n>', 'requests a minute of an active store', from1, 15)
    .option('--minutes <n>', 'of requests, at each number of stores', seconds, 3)
    .option('--json <file>', 'writes the JSON there too')
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run bench -- tenants --json tenants.json',
        'npm run bench -- tenants --stores 1000 --contacts 50000 --minutes 0.5',
      ),
    )
    .action(async (options: TenantsOptions & { json?: string }) => {
      const tenants = await measureTenants(options, showProgress(terminal.err))
      tell(terminal.out, tenantsTable(terminal.out, tenants), tenants, options.json)
    })
