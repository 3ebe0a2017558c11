/** The gateway, started as `npm start` starts it. */
import { readFileSync } from 'node:fs'
import { startServer } from '#runtime/server/server'
import { readSettings } from '#runtime/server/settings'
import { serveParent } from '../child.ts'
import type { Fixture } from '../kinds.ts'
import { gatewaySettings } from '../statements.ts'

const fixture: Fixture = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const { server, stop } = await startServer(await readSettings(gatewaySettings(fixture)))
await serveParent(server, stop)
