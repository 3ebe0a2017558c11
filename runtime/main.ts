/** `npm start`: the gateway, and the worker with it unless `WORKER=off`. */
import { explainAndExit, startServer, stopOnSignals } from './server.ts'
import { readSettings } from './settings.ts'

try {
  const running = await startServer(readSettings(process.env))
  stopOnSignals(running.stop, running.app.services.log)
  console.error(`Listening on ${running.url}`)
} catch (error) {
  explainAndExit(error)
}
