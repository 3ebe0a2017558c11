/**
 * Explains what to do if Node is too old to read TypeScript. The package `node` downloads a suitable Node in its
 * install script, which `npm ci --ignore-scripts` skips; then the machine's own Node is used. This file runs before all
 * others and uses only syntax that every Node reads.
 */
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `Node ${process.versions.node} is too old, 22.18 or later is needed: npm ci brings one along, npm rebuild node fetches it after npm ci --ignore-scripts, or install a newer one`,
  )
  process.exit(1)
}
