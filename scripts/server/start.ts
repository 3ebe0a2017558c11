/** `npm start`: starts the gateway, and the worker unless `WORKER=off`; on the first start creates the demo. */
import type { Command } from 'commander'
import { exitOnDatabaseFailure, explainAndExit, startServer, stopOnSignals } from '#runtime/server/server'
import { readSettings } from '#runtime/server/settings'
import { examples, newProgram } from '#scripts/cli/program'
import { showProgress } from '#scripts/cli/progress'
import { paint, printLine, type Terminal } from '#scripts/cli/terminal'
import { isDemoMissing } from '#scripts/seed/marker'

export const startProgram = (terminal: Terminal): Command =>
  newProgram(terminal, 'npm start --')
    .description(
      'Serves the API and runs its jobs until SIGTERM or SIGINT. The first start fills an empty database with the demo ' +
        'stores and prints a key. There are no flags: the settings (PORT, HOST, DATABASE_URL, DATA_DIR, WORKER, …) come ' +
        'from the environment, and docs/deploying.md lists them. `npm run dev` does the same and restarts when a file changes.',
    )
    .addHelpText(
      'after',
      examples(terminal, 'npm start', 'PORT=8080 LOG_LEVEL=warn npm start', 'WORKER=off npm start'),
    )
    .action(() => serve(terminal))

const demoSlug = 'aurora-supply'
const keyHint =
  'A key: npm run keys -- create --store <slug> --member <email> --scopes platform:read,platform:write'

async function serve({ out, err, env }: Terminal): Promise<void> {
  /** The key of the demo's owner; null on every later start. */
  let key: string | null = null
  try {
    const running = await startServer(await readSettings(env), {
      async afterOpen({ services }) {
        if (!services.settings.sandbox || !(await isDemoMissing(services))) return
        const { seedDemo } = await import('#scripts/seed/demo')
        const demo = await seedDemo(services, 'owner', showProgress(err))
        key = demo.keys[0]!.key
      },
    })
    stopOnSignals(running.stop, running.app.services.log)
    exitOnDatabaseFailure(running.app.services)
    printLine(out, `Listening on ${paint(out, 'cyan', running.url)}`)
    // The public address: HOST may be every interface, and a proxy may be in front.
    const { publicUrl, sandbox } = running.app.services.settings
    printLine(out, `Overview: ${paint(out, 'cyan', `${publicUrl}/`)}`)
    // With the sandbox on, the demo exists by now.
    if (sandbox) {
      const shop = `${publicUrl}/sandbox/shop/${demoSlug}`
      printLine(out, `Demo shop with everything that shoppers see: ${paint(out, 'cyan', shop)}`)
    }
    for (const [name, guide] of Object.entries(running.app.services.extensions.guides)) {
      printLine(out, `${guide!.title}: ${paint(out, 'cyan', `${publicUrl}/docs/guides/${name}`)}`)
    }
    printLine(out, key ? renderWelcome(publicUrl, key) : keyHint)
  } catch (error) {
    explainAndExit(error)
  }
}

function renderWelcome(url: string, demoKey: string): string {
  return `
The demo store Aurora Supply is ready. Its key, shown this once:
  ${demoKey}
Try it:
  curl -H 'Authorization: Bearer ${demoKey}' ${url}/v1/campaigns
Or in a browser, as guided stories: ${url}/sandbox#key=${demoKey}
Every operation: ${url}/v1/openapi.json
`
}
