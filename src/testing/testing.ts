// Exports of `portico/testing`. Part of the contract, like gateway.ts: names are only added.

export type { FaultKind } from '../demo/faults.ts';
export { type DemoApiName, type DemoPlatform, type DemoPlatformOptions, startDemoPlatform } from '../demo/platform.ts';
export { type MockPlatform, type MockPlatformOptions, mockPlatform, type Nock } from './mock-platform.ts';
export { type LogLine, PLATFORM_URL, startGateway, type TestGateway, type TestSettings } from './start-gateway.ts';
