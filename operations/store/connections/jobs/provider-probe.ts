import { serverJob } from '#runtime/job'
import { providerProbe } from '../../handles.ts'
import { probeProvider } from '../../health/probe.ts'

export default serverJob(providerProbe, {
  description: "Asks a provider of the server's own whether it takes our access again",
  retry: { limit: 4, backoffSeconds: 60 },
  timeoutSeconds: 120,
  oneAtATimePer: ({ port, provider }) => `${port}:${provider}`,
  safeTwice: 'It only asks; one that comes too early waits for its time.',
  run: (system, { port, provider }) => probeProvider(system, port, provider),
})
