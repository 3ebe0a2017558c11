/**
 * `npm run store -- create | list | add-member | set-role | set-agency | connect | disconnect | check`: stores and
 * people.
 */
import { type Command, Option } from 'commander'
import { connectMailingList } from '#operations/capture/mailing-list/connection'
import {
  type ConnectionPort,
  connectEcommerce,
  disconnect,
  findActivationLink,
} from '#operations/store/connections/connections'
import { buildInstallLink } from '#operations/store/connections/install'
import { type MemberRole, memberRoles } from '#operations/store/enums'
import { portNames } from '#operations/store/health/kinds'
import { plans } from '#operations/store/plans'
import { addMember } from '#operations/store/profile/stores'
import { type Context, type Services, SystemContext } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { parseInput } from '#runtime/gateway/input'
import type { PortName } from '#runtime/ports/ports'
import { checkConnections, formatConnection } from '#scripts/admin/check-connections'
import { createStore, type NewStore } from '#scripts/admin/create-store'
import {
  agencyInput,
  type BrandingInput,
  brandingInput,
  listStores,
  memberInput,
  newStoreInput,
  requireStore,
  setAgency,
  setRole,
} from '#scripts/admin/stores'
import { withDatabase, withServices } from '#scripts/cli/database'
import { jsonOption, readJsonFile, storeOption } from '#scripts/cli/options'
import { examples, exitWith, newProgram, runProgram } from '#scripts/cli/program'
import { type Column, table } from '#scripts/cli/table'
import { printLine, type Terminal } from '#scripts/cli/terminal'

const roleOption = () =>
  new Option('--role <role>', 'what they may do').choices(memberRoles).makeOptionMandatory()
const portOption = () =>
  new Option('--port <port>', 'which connection').choices(['ecommerce', 'mailingList']).makeOptionMandatory()
const paidPlans = Object.keys(plans).filter((id) => id !== 'trial')
const columns: Column[] = [
  { title: 'id', kind: 'exact' },
  { title: 'slug', kind: 'exact' },
  { title: 'plan', kind: 'exact' },
  { title: 'name', kind: 'text' },
]

export function storeProgram(terminal: Terminal): Command {
  const { out, env } = terminal
  const print = (asJson: boolean | undefined, value: object, text: string): void =>
    printLine(out, asJson ? JSON.stringify(value) : text)
  const program = newProgram(terminal, 'npm run store --')
    .description('Stores, their people and their connections. Works while the server runs.')
    .addHelpText(
      'after',
      examples(terminal, 'npm run store -- list', 'npm run store -- check --store aurora-supply'),
    )

  program
    .command('create')
    .description('Creates a store with its owner. It starts with a trial, unless a plan is given.')
    .requiredOption('--slug <slug>', 'its name on command lines')
    .requiredOption('--name <text>', 'as its customers see it')
    .requiredOption('--owner <email>', 'the person is found by email, or created')
    .requiredOption('--country <code>', 'ISO 3166-1 alpha-2, such as BR')
    .requiredOption('--currency <code>', 'ISO 4217, such as BRL')
    .requiredOption('--timezone <name>', 'IANA, such as America/Sao_Paulo')
    .option('--locale <language>', 'of its texts, such as pt-BR, en or es (default: pt-BR)')
    .addOption(new Option('--plan <plan>', 'active without a provider; renews uncharged').choices(paidPlans))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run store -- create --slug aurora --name Aurora --owner ana@aurora.example --country BR --currency BRL --timezone America/Sao_Paulo',
      ),
    )
    .action(({ json, plan, ...given }: NewStore & Json) => {
      const input = parseInput(newStoreInput, given, 'body') as NewStore
      return withServices(
        env,
        async (services, { now }) => {
          const { ownerId, ...store } = await createStore(services.database, now, {
            ...input,
            ...(plan === undefined ? {} : { plan }),
          })
          // Only with the sandbox: a real shop is connected with its credentials.
          if (services.settings.sandbox) {
            await connectEcommerce(await openContext(services, store.id, ownerId), 'sandbox', null)
          }
          print(json, store, `${store.name} (${store.slug}), id ${store.id}, plan ${store.plan}`)
        },
        { makes: true },
      )
    })

  program
    .command('list')
    .description('Lists every store.')
    .addOption(jsonOption())
    .addHelpText('after', examples(terminal, 'npm run store -- list', 'npm run store -- list --json'))
    .action(({ json }: Json) =>
      withDatabase(env, async ({ database }) => {
        const data = await listStores(database)
        const rows = data.map(({ id, slug, plan, name }) => [id, slug, plan, name])
        if (json) printLine(out, JSON.stringify({ data }))
        else if (rows.length === 0) printLine(out, 'There is no store yet.')
        else for (const each of table(out, columns, rows)) printLine(out, each)
      }),
    )

  program
    .command('add-member')
    .description('Adds a member; the person is found by email, or created.')
    .addOption(storeOption())
    .requiredOption('--email <email>', 'email of the person')
    .requiredOption('--name <text>', 'name of a new person')
    .addOption(roleOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run store -- add-member --store aurora --email ada@aurora.example --name Ada --role agent',
      ),
    )
    .action(({ store, email, name, role, json }: MemberOptions & { name: string }) => {
      const person = parseInput(memberInput, { email, name }, 'body') as { email: string; name: string }
      return withDatabase(env, async ({ database, now, waitForPropagation }) => {
        const { id: storeId, slug } = await requireStore(database, store)
        const userId = await database.root
          .transaction()
          .execute((transaction) => addMember(transaction, now, { storeId, ...person, role }))
        await waitForPropagation()
        print(json, { userId, email: person.email, role }, `${person.email} is ${role} of ${slug}`)
      })
    })

  program
    .command('set-role')
    .description('Changes the role of a member.')
    .addOption(storeOption())
    .requiredOption('--email <email>', 'of the member')
    .addOption(roleOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(terminal, 'npm run store -- set-role --store aurora --email ada@aurora.example --role member'),
    )
    .action(({ store, email, role, json }: MemberOptions) =>
      withDatabase(env, async ({ database, now, waitForPropagation }) => {
        const { id, slug } = await requireStore(database, store)
        const member = await setRole(database, now, id, { email, role })
        await waitForPropagation()
        print(json, member, `${member.email} is ${role} of ${slug}`)
      }),
    )

  program
    .command('set-agency')
    .description('Assigns the store to an agency, which is found by name, or created.')
    .addOption(storeOption())
    .requiredOption('--name <text>', 'of the agency')
    .option('--branding <file>', 'JSON: logoUrl, faviconUrl, primaryColor, … as GET /store/branding has them')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run store -- set-agency --store aurora --name "Northlight Studio" --branding branding.json',
      ),
    )
    .action(async ({ store, name: given, branding: file, json }: AgencyOptions) => {
      const { name } = parseInput(agencyInput, { name: given }, 'body') as { name: string }
      const branding =
        file === undefined
          ? null
          : (parseInput(brandingInput, await readJsonFile('branding', file), 'body') as BrandingInput)
      await withDatabase(env, async ({ database, now }) => {
        const { id, slug } = await requireStore(database, store)
        const agency = await setAgency(database, now, id, { name, branding })
        print(json, agency, `${slug} is with ${name}`)
      })
    })

  program
    .command('connect')
    .description('Connects a provider, replacing the current one; its credentials are checked, then sealed.')
    .addOption(storeOption())
    .addOption(portOption())
    .requiredOption('--provider <name>', 'such as sandbox')
    .option('--credentials <file>', 'JSON file with the credentials that the provider expects')
    .option(
      '--shop <domain>',
      'prints the link with which its owner connects it, such as my-shop.myshopify.com',
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run store -- connect --store aurora --port ecommerce --provider sandbox',
        'npm run store -- connect --store aurora --port mailingList --provider mailchimp --credentials mailchimp.json',
        'npm run store -- connect --store aurora --port ecommerce --provider shopify --shop my-shop.myshopify.com',
      ),
    )
    .action(async ({ store, port, provider, credentials: file, shop, json }: ConnectOptions) => {
      if (shop !== undefined && port !== 'ecommerce') {
        throw refuse('bad_request', '--shop: is for --port ecommerce only')
      }
      const credentials = file === undefined ? null : await readJsonFile('credentials', file)
      await withServices(env, async (services) => {
        const { id, slug } = await requireStore(services.database, store)
        if (shop !== undefined) {
          const link = buildInstallLink(await openContext(services, id), provider, shop)
          print(json, { port, provider, connected: false, link }, `Its owner connects ${shop} here: ${link}`)
          return
        }
        const connect = port === 'ecommerce' ? connectEcommerce : connectMailingList
        const ctx = await openContext(services, id)
        await connect(ctx, provider, credentials)
        const activate = port === 'ecommerce' ? await findActivationLink(ctx) : null
        const left = activate ? `; its owner switches it on in the theme: ${activate}` : ''
        const answer = { port, provider, connected: true, ...(activate ? { activate } : {}) }
        print(json, answer, `${slug} is connected to ${provider}${left}`)
      })
    })

  program
    .command('disconnect')
    .description('Ends a connection and deletes its credentials.')
    .addOption(storeOption())
    .addOption(portOption())
    .addOption(jsonOption())
    .addHelpText('after', examples(terminal, 'npm run store -- disconnect --store aurora --port mailingList'))
    .action(({ store, port, json }: { store: string; port: ConnectionPort } & Json) =>
      withServices(env, async (services) => {
        const { id, slug } = await requireStore(services.database, store)
        await disconnect(await openContext(services, id), port)
        print(json, { port, connected: false }, `${slug} is no longer connected to its ${port}`)
      }),
    )

  program
    .command('check')
    .description(
      "Checks the providers of a store, and the server's own; changes nothing. Exits with 1 if something is missing.",
    )
    .addOption(storeOption())
    .addOption(new Option('--port <port>', 'check only this port').choices(portNames))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run store -- check --store aurora',
        'npm run store -- check --store aurora --port ecommerce',
      ),
    )
    .action(({ store, port, json }: { store: string; port?: PortName } & Json) =>
      withServices(env, async (services) => {
        const { id } = await requireStore(services.database, store)
        const data = await checkConnections(await openContext(services, id), port)
        if (json) printLine(out, JSON.stringify({ data }))
        else for (const each of data.flatMap(formatConnection)) printLine(out, each)
        exitWith(data.every(({ isFine }) => isFine) ? 0 : 1)
      }),
    )
  return program
}

interface Json {
  json?: boolean
}
interface MemberOptions extends Json {
  store: string
  email: string
  role: MemberRole
}
interface AgencyOptions extends Json {
  store: string
  name: string
  branding?: string
}
interface ConnectOptions extends Json {
  store: string
  port: ConnectionPort
  provider: string
  credentials?: string
  shop?: string
}

async function openContext(services: Services, storeId: string, userId?: string): Promise<Context> {
  const ctx = await new SystemContext(services, services.log, 'command').forStore(storeId, userId)
  if (!ctx) throw new Error(`The store ${storeId} is gone`)
  return ctx
}

if (import.meta.main) process.exitCode = await runProgram(storeProgram)
