/** Preloaded into a process: writes the resolution of every import to `RESOLVED_MODULES`. */
import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const found = {}
registerHooks({
  resolve(specifier, context, next) {
    const { url, format } = next(specifier, context)
    found[`${context.parentURL?.startsWith('data:') ? 'all' : context.parentURL} ${specifier}`] = {
      url,
      format,
    }
    return { url, format }
  },
})
process.once('exit', () => writeFileSync(process.env.RESOLVED_MODULES, JSON.stringify(found)))
