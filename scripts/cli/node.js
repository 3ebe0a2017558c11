/**
 * Explains what to do if Node cannot read TypeScript: `npm ci --ignore-scripts` skips the bundled one (the package
 * `node` downloads it in its install script), so the machine's own is used. Runs before anything else, in syntax that
 * every Node reads.
 */
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `Node ${process.versions.node} is too old, 22.18 or later is needed: npm ci brings one along, npm rebuild node fetches it after npm ci --ignore-scripts, or install a newer one`,
  )
  process.exit(1)
}
