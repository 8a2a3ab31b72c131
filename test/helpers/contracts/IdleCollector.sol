// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title Says it collected a deposit, and did not.
contract IdleCollector {
    function collect(address, address, uint256, bytes32, bytes calldata) external {}
}
