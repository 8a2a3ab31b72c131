// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A smart wallet that accepts any signature (ERC-1271), and whose habits anybody may change.
contract TestWallet {
    uint256 public gasTaken;
    bool public refusesTransactions;

    /// @param gasTaken_ the gas that a check of a signature takes
    /// @param refusesTransactions_ accepts signatures in simulations only: they have no gas price
    function setHabits(uint256 gasTaken_, bool refusesTransactions_) external {
        gasTaken = gasTaken_;
        refusesTransactions = refusesTransactions_;
    }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 end = gasleft() - gasTaken;
        while (gasleft() > end) {}
        if (refusesTransactions && tx.gasprice > 0) return 0;
        return this.isValidSignature.selector;
    }
}
