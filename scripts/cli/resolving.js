/**
 * Finds our own modules by what their imports say: each names its file, and Node would look up folders, links and
 * `package.json` for each of thousands, which is a sixth of a start. Packages are found as always.
 */
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url).href
/** `#operations/*` as `package.json` has it: our folders by their names. */
const folders = new Map(
  Object.entries(JSON.parse(readFileSync(new URL('package.json', root), 'utf8')).imports).map(
    ([name, path]) => [name.slice(0, name.indexOf('/')), path.slice(2, path.indexOf('*'))],
  ),
)
const packages = `${root}node_modules/`
const isOurs = (url) => url?.startsWith(root) && !url.startsWith(packages)

// Imported by name it would end an older Node before that has been said.
process.getBuiltinModule('node:module').registerHooks?.({
  resolve(specifier, context, next) {
    const url = ownUrl(specifier, context.parentURL)
    // Of what is not there Node says who asks for it.
    return url === null || !isThere(url)
      ? next(specifier, context)
      : { url, format: 'module-typescript', shortCircuit: true }
  },
})

/** By folder, the names of its files as they were when the first of them was asked for. */
const known = new Map()
function isThere(url) {
  const folder = url.slice(0, url.lastIndexOf('/') + 1)
  if (!known.has(folder)) known.set(folder, filesIn(folder))
  return known.get(folder).has(url.slice(folder.length))
}
function filesIn(folder) {
  try {
    return new Set(readdirSync(new URL(folder)))
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return new Set()
    throw error
  }
}

/** Null for what is not ours. */
function ownUrl(specifier, parentUrl) {
  if (!specifier.endsWith('.ts')) {
    if (!specifier.startsWith('#') || !isOurs(parentUrl)) return null
    const end = specifier.indexOf('/')
    const folder = folders.get(specifier.slice(0, end))
    return folder === undefined ? null : `${root}${folder}${specifier.slice(end + 1)}.ts`
  }
  if (specifier.startsWith('.')) return isOurs(parentUrl) ? new URL(specifier, parentUrl).href : null
  return isOurs(specifier) ? specifier : null
}
