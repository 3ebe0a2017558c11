/** The gateway, started like `npm start`. */
import { readFileSync } from 'node:fs'
import { startServer } from '#runtime/server/server'
import { readSettings } from '#runtime/server/settings'
import { gatewaySettings } from '../fixture.ts'
import { serveParent } from '../processes.ts'

const { server, stop } = await startServer(
  await readSettings(gatewaySettings(JSON.parse(readFileSync(process.argv[2]!, 'utf8')))),
)
await serveParent(server, stop)
