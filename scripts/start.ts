/** `npm start`: the gateway, and the worker with it unless `WORKER=off`; the demo on the first start. */
import { explainAndExit, startServer, stopOnSignals } from '#runtime/server'
import { readSettings } from '#runtime/settings'
import { isDemoMissing, seedDemo } from './seed/demo.ts'

const keyHint =
  'A key: npm run keys -- create --store <slug> --member <email> --scopes platform:read,platform:write'
/** Of the demo's owner; null on every start but the first. */
let key: string | null = null

try {
  const running = await startServer(readSettings(process.env), {
    async afterOpen({ services }) {
      if (!services.settings.sandbox || !(await isDemoMissing(services))) return
      const demo = await seedDemo(services, 'owner')
      key = demo.keys[0]!.key
    },
  })
  stopOnSignals(running.stop, running.app.services.log)
  console.log(`Listening on ${running.url}`)
  console.log(key ? welcome(running.url, key) : keyHint)
} catch (error) {
  explainAndExit(error)
}

function welcome(url: string, demoKey: string): string {
  return `
The demo store Aurora Supply is ready. Its key, shown this once:
  ${demoKey}
Try it:
  curl -H 'Authorization: Bearer ${demoKey}' ${url}/v1/campaigns
Every operation: ${url}/v1/openapi.json
`
}
