/**
 * Says what is missing where there is a Node that cannot read TypeScript: `npm ci --ignore-scripts` leaves out the one that
 * comes with us (the package `node` fetches it in its script), and the machine's own is taken. Before anything else, and
 * in what every Node reads.
 */
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  console.error(
    `Node ${process.versions.node} is too old, 22.18 or later is needed: npm ci brings one along, npm rebuild node fetches it after npm ci --ignore-scripts, or install a newer one`,
  )
  process.exit(1)
}
