/** The status monitor of a 202: the read that shows how far the work is (RFC 9110, section 15.3.3). */
import type { LoadedOperation } from './loaded.ts'

const parameter = /:([a-zA-Z]+)/g
const toShape = (path: string): string => path.replace(parameter, ':')

/** Finds the GET operation at a monitor's path; the operation may name its parameters differently. */
export function findMonitor(
  operations: readonly LoadedOperation[],
  monitor: string,
): LoadedOperation | undefined {
  const shape = toShape(monitor.split('?')[0]!)
  return operations.find(({ spec }) => spec.method === 'GET' && spec.readOnly && toShape(spec.path) === shape)
}

/** Lists the parameters of a monitor. */
export const listMonitorParameters = (monitor: string): string[] =>
  [...monitor.matchAll(parameter)].map(([, name]) => name!)

/** Fills a monitor with the parameters of the request's path, else with fields of the answer. */
export function fillMonitor(monitor: string, params: Record<string, string>, body: string): string {
  const isInPath = listMonitorParameters(monitor).every((name) => name in params)
  const values: Record<string, unknown> = isInPath ? params : { ...JSON.parse(body), ...params }
  return monitor.replace(parameter, (_, name: string) => encodeURIComponent(String(values[name])))
}
