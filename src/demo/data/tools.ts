import { codeScanners } from './code-scanners.ts';
import { networkScanners } from './network-scanners.ts';
import { responders } from './responders.ts';
import type { DemoTool } from './tool.ts';

/** The whole tool registry, installed or not. */
export const tools: readonly DemoTool[] = [...codeScanners, ...networkScanners, ...responders];
